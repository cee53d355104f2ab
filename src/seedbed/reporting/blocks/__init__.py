"""What figures are made of: each block turns a study's results into panels."""
