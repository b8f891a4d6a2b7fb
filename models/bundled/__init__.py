"""The default scorer: a small cross-encoder, its signals, a calibrator over them, and the shipped weights."""
