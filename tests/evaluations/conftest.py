from contexts import context, error_over_documents, farm, farm_context, garden  # noqa: F401 - fixtures
