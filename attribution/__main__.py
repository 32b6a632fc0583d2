"""`python -m attribution`"""

from attribution.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
