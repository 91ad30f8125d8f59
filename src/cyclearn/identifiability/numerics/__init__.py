"""What drawing distributions and projecting them tells where no proof was found."""
