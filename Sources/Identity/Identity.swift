// The first file of Identity.
