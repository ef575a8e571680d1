"""stub"""
def injection(text): return []
