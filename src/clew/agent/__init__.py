"""Continue a session, and stand in for the Messages API while doing so without a network."""
