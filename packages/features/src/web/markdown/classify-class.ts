/** Meanings of the classes and ids of elements. Pure. */

export interface ClassMeaning {
  /** The element has no text of the page: numbers of lines, links to a heading, texts for screen readers. */
  readonly isSkipped: boolean;
  /** The element is around the text of the page: a menu, a sidebar, a bar with buttons. */
  readonly isSurrounding: boolean;
  /** The element may hold the text of the page. */
  readonly isContent: boolean;
  /** The language of code. */
  readonly language: string | undefined;
}

const none: ClassMeaning = { isSkipped: false, isSurrounding: false, isContent: false, language: undefined };

const skipped =
  /(?:^|\s)(?:sr-only|visually-hidden|screen-reader-text|headerlink|hash-link|heading-anchor|anchor-link|header-anchor|linenos?|line-number|blob-num|gutter|rouge-gutter|hljs-ln-numbers|mw-editsection|edit-link)(?:\s|$)/;
const surrounding =
  /(?:^|\s)(?:nav(?:bar|igation)?|(?:main|site|top|side)-?(?:nav|menu|bar)|menu|sidebar|breadcrumbs?|cookie[\w-]*|consent[\w-]*|newsletter|subscribe|social|share(?:-buttons?)?|related(?:-posts|-articles)?|advert(?:isement)?|ads?|promo|skip-?link|toc|table-of-contents|pagination|(?:site|page)-(?:header|footer))(?:\s|$)/;
const content =
  /(?:^|\s)(?:content|main|main-content|page-content|post|post-(?:content|body)|entry-content|article(?:-body|-content)?|markdown-body|mw-parser-output|mw-content-text|bodywrapper|story-body)(?:\s|$)/;
const codeLanguage =
  /(?:^|\s)(?:(?:language|lang|highlight-source|highlight-text|highlight)-|brush:\s*|sourceCode\s+)([A-Za-z][\w+#-]*)/;
/** Classes of the same form that name no language. */
const noLanguage = /^(?:source|text|default|notranslate|none|plain|plaintext|wrapper|inner|table)$/i;

const maxKnown = 2_000;
const known = new Map<string, ClassMeaning>();

/** Reads the class and the id of an element. Pages repeat them, so what was found is kept. */
export function classifyClass(className: string, id: string): ClassMeaning {
  if (className === "" && id === "") return none;
  const key = id === "" ? className : `${className} ${id}`;
  const before = known.get(key);
  if (before) return before;
  const lower = key.toLowerCase();
  const language = codeLanguage.exec(className.slice(0, 200))?.[1];
  const meaning: ClassMeaning = {
    isSkipped: skipped.test(lower),
    isSurrounding: surrounding.test(lower),
    isContent: content.test(lower),
    language: language === undefined || noLanguage.test(language) ? undefined : language.toLowerCase(),
  };
  if (known.size >= maxKnown) known.clear();
  known.set(key, meaning);
  return meaning;
}
