"""The rows of `tables` for many machines: Parquet in Delta tables, built and asked here or on a cluster."""
