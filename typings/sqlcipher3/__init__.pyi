# Types of sqlcipher3, which ships none: the part that memvault uses.

from sqlcipher3 import dbapi2 as dbapi2
