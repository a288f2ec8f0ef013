"""How the bundled table of token vectors is made; see README.md here. No part of the installed package."""
