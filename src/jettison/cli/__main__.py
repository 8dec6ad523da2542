"""`python -m jettison.cli`."""

import sys

from jettison.cli import main

sys.exit(main())
