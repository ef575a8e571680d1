"""Sample memories for the demo: invented people, places and projects in three formats."""
