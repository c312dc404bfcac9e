"""What the documents show must work: the README's program, the config of docs/command-line.md, experiments/."""

import re
import unittest

import program
import streams

def block(document, language):
    text = (program.REPOSITORY / document).read_text(encoding="utf-8")
    return re.search(rf"```{language}\n(.*?)```", text, re.DOTALL).group(1)


class DocsTest(program.ProgramTest):
    def test_the_readme_shows_the_example_that_is_compiled_and_run(self):
        example = (program.REPOSITORY / "examples" / "readme.cpp").read_text(encoding="utf-8")
        self.assertEqual(example.split("\n", 1)[1], block("README.md", "cpp"))

    def test_the_pages_on_adding_quote_the_examples_that_are_compiled_and_run(self):
        for page, example in (("adding-an-optimiser", "own_optimiser"), ("adding-a-problem", "own_problem")):
            text = (program.REPOSITORY / "docs" / f"{page}.md").read_text(encoding="utf-8")
            code = (program.REPOSITORY / "examples" / f"{example}.cpp").read_text(encoding="utf-8")
            quotes = re.findall(r"```cpp\n(.*?)```", text, re.DOTALL)
            self.assertTrue(quotes)
            for quote in quotes:
                with self.subTest(page=page, quote=quote.split("\n", 1)[0]):
                    self.assertIn(quote, code)

    def test_the_config_of_the_command_line_page_runs(self):
        streams.write_stream(streams.drifting_stream(1, 2, 3, 5), self.directory / "stream.json")
        self.write("config.toml", block("docs/command-line.md", "toml"))
        self.obolus("run", "config.toml", "--out", "run")
        self.assertEqual(len(program.trace(self.directory / "run")), 200)

    def test_every_experiment_runs(self):
        configs = sorted((program.REPOSITORY / "experiments").glob("*.toml"))
        self.assertTrue(configs)
        for config in configs:
            if "[compare]" in config.read_text(encoding="utf-8"):
                continue  # compare_test.py runs them, cut short
            with self.subTest(config.name):
                self.obolus("run", config, "--rounds", 50, "--out", config.stem)

    def test_every_document_that_is_linked_exists(self):
        for document in [program.REPOSITORY / "README.md", *(program.REPOSITORY / "docs").rglob("*.md")]:
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
                with self.subTest(document=document.name, target=target):
                    self.assertTrue((document.parent / target).exists())

    def test_every_file_that_the_pages_of_the_paper_name_exists(self):
        optimisers = program.REPOSITORY / "include" / "obolus" / "optimisers"
        for page in ("paper", "theory", "experiments"):
            text = (program.REPOSITORY / "docs" / f"{page}.md").read_text(encoding="utf-8")
            files = re.findall(r"\b(?:experiments|include|scripts|src|tests)/[\w./-]*\w", text)
            headers = [optimisers / name for name in re.findall(r"`(\w+\.hpp)`", text)]
            self.assertTrue(files)
            for file in {program.REPOSITORY / name for name in files} | set(headers):
                with self.subTest(page=page, file=str(file)):
                    self.assertTrue(file.exists())


if __name__ == "__main__":
    unittest.main()
