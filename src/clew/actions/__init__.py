"""Request in, result value out; nothing printed. One module per thing a person can ask for."""
