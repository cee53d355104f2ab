"""What figures are made of: each group turns a study's results into panels."""
