"""A trained model as a folder that translates wherever CTranslate2 runs."""
