"""How other machines are called: one HTTP request at a time, over when it has to be over."""
