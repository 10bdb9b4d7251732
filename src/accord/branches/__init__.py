"""Run each program of a model whose statements differ by what is drawn, and weigh their draws by the evidence."""
