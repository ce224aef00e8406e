// The first file of JSONRPC.
