"""``python -m cyclearn`` is the command line."""

from cyclearn.cli import main

if __name__ == "__main__":
    main()
