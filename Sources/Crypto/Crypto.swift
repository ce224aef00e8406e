// The first file of Crypto.
