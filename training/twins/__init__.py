"""T24's groundedness classifier on one's own data: answers and their altered twins, with cosines as targets."""
