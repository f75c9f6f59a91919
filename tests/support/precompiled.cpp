// Empty: its target compiles once the headers that nearly every test includes. See tests/CMakeLists.txt.
