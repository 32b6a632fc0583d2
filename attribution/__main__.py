from attribution.cli.main import main

raise SystemExit(main())
