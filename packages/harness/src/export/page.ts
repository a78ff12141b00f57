/** The frame of the page, with the only style and the only script that its policy allows. Neither holds text of a session. */
import { createHash } from "node:crypto";

const light = `--page:#fbfbfa;--box:#fff;--line:#dcdcd8;--text:#1d1d1f;--soft:#66666b;--mark:#0b62c4;--user:#eaf2fc;
--code:#f3f3f0;--add:#dff3e1;--del:#fbe3e3;--bad:#b3261e;--sum:#f6efdc;
--c0:#333;--c1:#b3261e;--c2:#2c7a2c;--c3:#8a6100;--c4:#1f5fbf;--c5:#8a2f9c;--c6:#0f7580;--c7:#666`;
const dark = `--page:#17181a;--box:#1f2023;--line:#37383d;--text:#e6e6e3;--soft:#9b9ba1;--mark:#7db4ff;--user:#1f2b3b;
--code:#141517;--add:#173420;--del:#421d1f;--bad:#ff8a80;--sum:#332c19;
--c0:#8b8b8b;--c1:#ff8a80;--c2:#83d083;--c3:#e0b94f;--c4:#86b4ff;--c5:#d79be3;--c6:#6fd0da;--c7:#d0d0d0`;

const colours = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => `.c${n},.c${n + 8}{color:var(--c${n})}`).join("");

const style = `
:root{color-scheme:light;${light}}
@media (prefers-color-scheme:dark){:root{color-scheme:dark;${dark}}}
:root[data-theme=light]{color-scheme:light;${light}}
:root[data-theme=dark]{color-scheme:dark;${dark}}
*{box-sizing:border-box}
[hidden]{display:none!important}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.55 system-ui,sans-serif;overflow-wrap:anywhere}
a{color:var(--mark)}
.top{display:flex;gap:1rem;align-items:flex-start;padding:1rem 1.5rem;border-bottom:1px solid var(--line)}
.top>div{flex:1}
h1{font-size:1.3rem;margin:0 0 .4rem}
dl{display:flex;flex-wrap:wrap;gap:.2rem 1.4rem;margin:0;font-size:.85rem}
dl div{display:flex;gap:.4rem}
dt{color:var(--soft);white-space:nowrap}
dd{margin:0}
button{font:inherit;font-size:.85rem;color:inherit;background:var(--box);border:1px solid var(--line);border-radius:6px;padding:.25rem .7rem;cursor:pointer}
.body{display:grid;grid-template-columns:20rem minmax(0,1fr);align-items:start}
nav{position:sticky;top:0;max-height:100vh;overflow:auto;padding:1rem;border-right:1px solid var(--line);font-size:.82rem}
nav ol{list-style:none;margin:0;padding:0}
nav ol ol{border-left:1px solid var(--line);margin-left:.3rem;padding-left:.5rem}
nav li>a{display:block;padding:.12rem .4rem;border-left:3px solid transparent;color:var(--soft);text-decoration:none;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
nav li.on>a{color:var(--text);border-color:var(--line)}
nav li.on.user>a{border-color:var(--mark)}
nav li.user>a{font-weight:600}
nav li.failed>a{color:var(--bad)}
nav a[aria-current]{background:var(--user)}
nav a:hover,nav a:focus{background:var(--code)}
nav:not(.searched) #all:not(:checked)~ol .minor{display:none}
#find{display:flex;flex-wrap:wrap;gap:.4rem;margin-bottom:.5rem}#search{flex:1;min-width:7rem}#find input,#find select{font:inherit}#found{flex-basis:100%;margin:0;color:var(--soft)}#found:empty{display:none}
.request{margin-bottom:.8rem}
nav summary{color:var(--soft);cursor:pointer}
.label{background:var(--sum);border-radius:4px;padding:0 .3rem;font-weight:600}
.fork{color:var(--mark)}
main{padding:1rem 1.5rem 4rem;max-width:60rem}
article{background:var(--box);border:1px solid var(--line);border-radius:8px;padding:.6rem 1rem;margin:0 0 .8rem;content-visibility:auto;contain-intrinsic-size:auto 8rem;scroll-margin-top:1rem}
article:target{outline:2px solid var(--mark)}
article>header{display:flex;gap:.6rem;align-items:baseline;font-size:.8rem;color:var(--soft)}
article>header b{color:var(--text)}
article>header time{margin-left:auto;white-space:nowrap}
article.user{background:var(--user)}
article.summary{background:var(--sum)}
body:has(#all:not(:checked)) article.internal{display:none}
article.info,article.internal,article.unknown{border-style:dashed;background:none;padding:.2rem 1rem;font-size:.85rem}
article.info{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 .8rem}
article.info>header{display:contents}
article.info>header time{order:1;font-size:.8rem}
article.info>.note{margin:0}
article.result,article.shell{margin-left:1.5rem}
article.failed{border-color:var(--bad)}
p,ul,ol,figure,blockquote,.table,pre{margin:.5rem 0}
blockquote{padding-left:.8rem;border-left:3px solid var(--line);color:var(--soft)}
pre{background:var(--code);border-radius:6px;padding:.6rem .8rem;overflow-x:auto;white-space:pre-wrap;font:12.5px/1.5 ui-monospace,monospace}
code{font:.9em ui-monospace,monospace;background:var(--code);border-radius:4px;padding:.05rem .25rem}
pre code{font:inherit;padding:0}
figcaption{font-size:.75rem;color:var(--soft)}
table{border-collapse:collapse}
.table{overflow-x:auto}
th,td{border:1px solid var(--line);padding:.2rem .6rem;text-align:left}
.center{text-align:center}
.right{text-align:right}
img{max-width:100%;border-radius:6px}
summary{cursor:pointer;color:var(--soft)}
.thinking{color:var(--soft);border-left:3px solid var(--line);padding-left:.8rem}
.call{margin-bottom:0}
.note,.url{color:var(--soft);font-size:.82rem}
.error{color:var(--bad);white-space:pre-wrap}
.command pre::before{content:"$ ";color:var(--soft)}
.diff span{display:inline-block;min-width:100%}.diff .add{background:var(--add)}.diff .del{background:var(--del)}.diff .file{font-weight:700}.diff i{font-style:normal;color:var(--soft);user-select:none}
.places{padding-left:0;list-style:none}.severity.error{color:var(--bad)}.severity.warning{color:var(--c3)}.severity.info{color:var(--mark)}.severity.hint{color:var(--soft)}.diff .current{font-weight:700}
.bold{font-weight:700}.dim{color:var(--soft)}.italic{font-style:italic}.underline{text-decoration:underline}
${colours}
@media (max-width:50rem){.body{display:block}nav{position:static;max-height:40vh;border-right:0;border-bottom:1px solid var(--line)}}
@media print{nav,button{display:none}.body{display:block}}
`;

/** Shows the branch of the entry that was clicked in the tree, and leaves what is not searched for out of the tree. It writes no text of an entry. */
const script = `
"use strict";
(() => {
  const root = document.documentElement;
  const articles = [...document.querySelectorAll("main > article")];
  const parents = articles.map((article) => Number(article.dataset.parent));
  const newestChild = new Map(parents.map((parent, index) => [parent, index]));
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [Number(link.hash.slice(2)), link]));

  const show = (target) => {
    if (!articles[target] || !articles[target].hidden) return;
    let leaf = target;
    while (newestChild.has(leaf)) leaf = newestChild.get(leaf);
    const branch = new Set();
    for (let index = leaf; index >= 0; index = parents[index]) branch.add(index);
    articles.forEach((article, index) => (article.hidden = !branch.has(index)));
    links.forEach((link, index) => {
      link.parentElement.classList.toggle("on", branch.has(index));
      if (index === leaf) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  };
  const goToHash = () => {
    if (!/^#e[0-9]+$/.test(location.hash)) return;
    const target = Number(location.hash.slice(2));
    show(target);
    articles[target]?.scrollIntoView();
  };
  // The entry has to be visible before the browser scrolls to it.
  document.querySelector("nav")?.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link) show(Number(link.hash.slice(2)));
  });
  addEventListener("hashchange", goToHash);
  goToHash();

  const [search, kinds, found] = ["search", "kinds", "found"].map((id) => document.getElementById(id));
  const texts = [];
  const getText = (index) => (texts[index] ??= articles[index].textContent.toLowerCase());
  const find = () => {
    const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
    const nav = search.closest("nav");
    nav.classList.toggle("searched", words.length > 0 || kinds.value !== "");
    let count = 0;
    links.forEach((link, index) => {
      const item = link.parentElement;
      const isFound = item.matches("li" + kinds.value) && words.every((word) => getText(index).includes(word));
      item.hidden = !isFound;
      if (isFound) count++;
    });
    for (const branch of [...nav.querySelectorAll("li.branch")].reverse()) {
      branch.hidden = !branch.querySelector("li:not([hidden],.branch)");
      if (words.length > 0) branch.firstElementChild.open = !branch.hidden;
    }
    found.textContent = nav.classList.contains("searched") ? count + " of " + links.size + " entries" : "";
  };
  document.getElementById("find").hidden = false;
  search.addEventListener("input", find);
  kinds.addEventListener("change", find);

  const toggle = document.getElementById("theme");
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    const isDark = getComputedStyle(root).colorScheme === "dark";
    root.dataset.theme = isDark ? "light" : "dark";
  });
})();
`;

const toHash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Nothing is loaded or sent, and only the script and the style above are allowed. */
const policy = [
  "default-src 'none'",
  "img-src data:",
  `style-src ${toHash(style)}`,
  `script-src ${toHash(script)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

interface Page {
  /** HTML, as are the others. */
  title: string;
  metadata: string;
  tree: string;
  request: string;
  entries: string;
}

export const pageHtml = ({ title, metadata, tree, request, entries }: Page): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<header class="top">
<div>
<h1>${title}</h1>
<dl>
${metadata}
</dl>
</div>
<button id="theme" type="button" hidden>Light/dark</button>
</header>
<div class="body">
<nav aria-label="Session tree">
<div id="find" hidden>
<input id="search" type="search" placeholder="Search" aria-label="Search in all entries">
<select id="kinds" aria-label="Entries">
<option value="">All kinds</option>
<option value=".user">Yours</option>
<option value=":not(.result,.shell)">Without tools</option>
<option value=":has(.label)">With labels</option>
<option value=".failed">Failed</option>
</select>
<p id="found" role="status"></p>
</div>
<input id="all" type="checkbox"><label for="all"> Show all entries</label>
${tree}
</nav>
<main>
${request}${entries}
</main>
</div>
<script>${script}</script>
</body>
</html>
`;
