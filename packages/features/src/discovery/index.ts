/** The feature `discovery`, and its search for programs. */
export { discovery } from "./feature.ts";
export {
  buildDiscoverableToolSearchIndex,
  type DiscoverableTool,
  type DiscoverableToolSearchDocument,
  type DiscoverableToolSearchIndex,
  type DiscoverableToolSearchResult,
  type DiscoverableToolSource,
  searchDiscoverableTools,
  tokenize,
} from "../kit/tool-search/search-index.ts";
