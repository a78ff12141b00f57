/** Sites that are read in a form for programs, from answers as they are documented. */
import { expect, test } from "vitest";
import { findSite } from "../../src/web/sites/index.ts";

const read = (address: string, ...bodies: (string | object)[]) => {
  const request = findSite(new URL(address))!;
  const texts = bodies.map((body) => (typeof body === "string" ? body : JSON.stringify(body)));
  return { urls: request.urls, ...request.read(texts) };
};

test("a file of GitHub is read raw", () => {
  expect(read("https://github.com/owner/kite/blob/main/src/a%20b.ts", "const a = 1;")).toEqual({
    urls: ["https://raw.githubusercontent.com/owner/kite/main/src/a%20b.ts"],
    title: "owner/kite: src/a b.ts",
    text: "const a = 1;",
  });
});

test("an issue and a pull request have their comments", () => {
  const comments = [{ user: { login: "bob" }, created_at: "2026-05-02", body: "Is there wind?" }];
  const issue = {
    title: "Kite falls",
    state: "open",
    user: { login: "ann" },
    body: "It *falls*.",
    labels: [{ name: "bug" }],
  };
  expect(read("https://github.com/owner/kite/issues/7", issue, comments)).toEqual({
    urls: [
      "https://api.github.com/repos/owner/kite/issues/7",
      "https://api.github.com/repos/owner/kite/issues/7/comments?per_page=100",
    ],
    title: "owner/kite#7: Kite falls",
    text: "# Kite falls\n\n- state: open\n- author: ann\n- labels: bug\n\nIt *falls*.\n\n## bob, 2026-05-02\n\nIs there wind?",
  });
  expect(read("https://github.com/owner/kite/issues/7", { ...issue, comments: 101 }, comments).text).toMatch(
    /Is there wind\?\n\n\[100 more comments are not shown\.\]$/,
  );
  const pull = { ...issue, merged: true, head: { label: "ann:wing" }, base: { label: "owner:main" }, changed_files: 3 };
  const { urls, text } = read("https://github.com/owner/kite/pull/8", pull, []);
  expect(urls[0]).toBe("https://api.github.com/repos/owner/kite/pulls/8");
  expect(text).toContain(
    "- state: merged\n- author: ann\n- labels: bug\n- branches: ann:wing → owner:main\n- files: 3",
  );
});

test("a release has its notes and files", () => {
  const release = {
    name: "",
    tag_name: "v2",
    published_at: "2026-05-01",
    body: "Faster.",
    assets: [{ name: "kite.zip", browser_download_url: "https://x.example/kite.zip" }],
  };
  expect(read("https://github.com/owner/kite/releases/tag/v2", release)).toEqual({
    urls: ["https://api.github.com/repos/owner/kite/releases/tags/v2"],
    title: "owner/kite: v2",
    text: "# v2\n\n- tag: v2\n- published: 2026-05-01\n\nFaster.\n\n## Files\n\n- [kite.zip](https://x.example/kite.zip)",
  });
  expect(findSite(new URL("https://github.com/owner/kite/releases/latest"))!.urls).toEqual([
    "https://api.github.com/repos/owner/kite/releases/latest",
  ]);
});

test("packages have their versions, links and dependencies", () => {
  const manifest = { version: "1.2.0", description: "Flies.", license: "MIT", dependencies: { wind: "^1.0.0" } };
  expect(read("https://www.npmjs.com/package/@sky/kite/v/1.2.0", manifest)).toEqual({
    urls: ["https://registry.npmjs.org/@sky%2fkite/1.2.0"],
    title: "@sky/kite",
    text: "# @sky/kite\n\nFlies.\n\n- version: 1.2.0\n- license: MIT\n\n## Dependencies\n\n- wind ^1.0.0",
  });
  const info = {
    name: "kite",
    version: "2",
    summary: "Flies.",
    description: "# Kite",
    project_urls: { Home: "https://k.example" },
  };
  expect(read("https://pypi.org/project/kite/", { info })).toEqual({
    urls: ["https://pypi.org/pypi/kite/json"],
    title: "kite",
    text: "# kite\n\nFlies.\n\n- version: 2\n\n- Home: https://k.example\n\n# Kite",
  });
});

test("a paper has its abstract, and a question its answers", () => {
  const feed = `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>ArXiv Query</title><entry>
    <id>http://arxiv.org/abs/2605.00001v1</id><published>2026-05-01T00:00:00Z</published><title>On
      Kites</title><summary>They &amp; wind.</summary><author><name>A. Ann</name></author><author><name>B. Bob</name></author></entry></feed>`;
  expect(read("https://arxiv.org/abs/2605.00001", feed)).toMatchObject({
    urls: ["https://export.arxiv.org/api/query?id_list=2605.00001"],
    title: "On Kites",
    text: expect.stringContaining("- authors: A. Ann, B. Bob\n- published: 2026-05-01T00:00:00Z\n\nThey & wind."),
  });
  const question = {
    title: "How to &quot;fly&quot;?",
    score: 5,
    tags: ["kite"],
    body: "<p>My kite <code>falls</code>.</p>",
  };
  const answer = { score: 9, is_accepted: true, body: "<p>Run.</p>" };
  expect(read("https://stackoverflow.com/questions/12/how-to-fly", { items: [question] }, { items: [answer] })).toEqual(
    {
      urls: [
        "https://api.stackexchange.com/2.3/questions/12?site=stackoverflow&filter=withbody",
        "https://api.stackexchange.com/2.3/questions/12/answers?site=stackoverflow&filter=withbody&order=desc&sort=votes",
      ],
      title: 'How to "fly"?',
      text: '# How to "fly"?\n\n- votes: 5\n- tags: kite\n\nMy kite `falls`.\n\n## Answer, 9 votes, accepted\n\nRun.',
    },
  );
});

test.each([
  "https://github.com/owner",
  "https://github.com/owner/kite",
  "https://github.com/owner/kite/issues",
  "https://github.com/owner/..%2f/issues/1",
  "https://github.com.evil.example/owner/kite/issues/1",
  "https://www.npmjs.com/search",
  "https://pypi.org/simple/kite/",
  "https://arxiv.org/list/cs.AI/recent",
  "https://stackoverflow.com/tags",
  "https://example.org/questions/1",
])("%s is read as a page", (address) => {
  expect(findSite(new URL(address))).toBeUndefined();
});

test("an answer of another form is refused, so that the page is read", () => {
  for (const address of [
    "https://pypi.org/project/kite/",
    "https://arxiv.org/abs/2605.00001",
    "https://github.com/o/k/issues/1",
  ])
    expect(() => findSite(new URL(address))!.read(["[]", "[]"])).toThrow(/no package|no entry|not an object/);
});
