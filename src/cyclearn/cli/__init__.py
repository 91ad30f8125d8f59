"""The command line; each command calls one library function."""

from cyclearn.cli.app import main as main
