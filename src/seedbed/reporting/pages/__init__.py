"""The pages of the report: each one HTML file that opens offline, made by a pure function from tables to text."""
