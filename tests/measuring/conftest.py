from contexts import context, garden  # noqa: F401 - fixtures
