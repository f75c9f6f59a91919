// Empty: its target precompiles the headers that nearly every test includes. See
// tests/CMakeLists.txt.
