"""What every package uses: errors, checked arguments, seeds, files, time limits and Ctrl-C."""
