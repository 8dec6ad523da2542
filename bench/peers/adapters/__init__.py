"""One short adapter a file. `bench/peers/README.md` says what an adapter is and how to correct one."""
