"""What Claude Code calls: one short-lived process for each event, which never stands in the way."""
