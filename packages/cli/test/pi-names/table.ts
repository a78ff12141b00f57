/**
 * The names that pi 1.5.0 documents, and what tau makes of each. A name is in one list of its category:
 * `same` works under its name; `decided` is left out or done otherwise, for the reason under that heading of
 * `docs/decisions/pi.md`; `notApplicable` has nothing here that it could apply to; `missing` is not built yet; `ofFeatures` comes with a feature.
 */

interface Verdicts {
  same: string;
  /** By the bold words that begin the reason. */
  decided?: Readonly<Record<string, string>>;
  notApplicable?: string;
  missing?: string;
  /** A feature has it, which may be turned off or left out of a build. */
  ofFeatures?: string;
}

const codemode = "Code mode";
const accounts = "Telemetry, updates of itself and sharing";
const warming = "Warming of caches";
const own = "Done in another way";
const screen = "Parts of pi's terminal";
const classifiers = "Images for classifiers";
const fallbacks = "Other models after a refusal";
const summaries = "Retries of summaries";
const shells = "PowerShell";
const extensionErrors = "Errors of extensions";
const gateway = "pi's own gateway";
const parts = "Objects of pi's parts";
const otherTypes = "Classifiers and images";

export const piNames = {
  flags: {
    same: `print mode export provider model api-key thinking models list-models continue resume session session-id session-dir
      no-session fork name tools exclude-tools no-builtin-tools no-tools extension no-extensions skill no-skills prompt-template
      no-prompt-templates theme no-themes use-theme no-context-files system-prompt append-system-prompt tui-mode approve
      no-approve verbose offline help version no-mcp`,
  },
  commands: { same: "install remove uninstall update list config auth", ofFeatures: "mcp" },
  slashCommands: {
    same: `settings model scoped-models thinking login logout new resume name session tree fork clone compact import export share
      copy changelog hotkeys trust reload bug debug quit llama`,
    ofFeatures: "mcp",
  },
  settings: {
    same: `defaultProvider defaultModel defaultThinkingLevel modelThinkingLevels codemode.mode codemode.inlineBudget transport steeringMode followUpMode theme compaction.enabled
      compaction.reserveTokens compaction.keepRecentTokens branchSummary.skipPrompt retry.enabled retry.maxRetries
      retry.baseDelayMs showCacheMissNotices hideThinkingBlock externalEditor shellPath quietStartup defaultProjectTrust shellCommandPrefix
      collapseChangelog packages extensions skills prompts themes enableSkillCommands terminal.showImages
      terminal.imageWidthCells terminal.showTerminalProgress terminal.hyperlinks terminal.images terminal.trueColor
      images.autoResize images.blockImages enabledModels defaultTools doubleEscapeAction treeFilterMode
      thinkingBudgets.minimal thinkingBudgets.low thinkingBudgets.medium thinkingBudgets.high editorPaddingX outputPad
      autocompleteMaxVisible showHardwareCursor markdown.codeBlockIndent markdown.mermaid sessionDir httpProxy httpIdleTimeoutMs tuiMode
      fullscreenExitOutput fullscreenScrollbar fullscreenCopyOnSelect fullscreenWheelScrollLines compaction.modelOverrides
      branchSummary.reserveTokens retry.maxAgentDelayMs retry.provider.timeoutMs retry.provider.maxRetries
      retry.provider.maxRetryDelayMs`,
    decided: {
      enableInstallTelemetry: accounts,
      enableAnalytics: accounts,
      trackingId: accounts,
      deviceId: accounts,
      selfUpdateCommand: accounts,
      sessionShareDestination: accounts,
      npmCommand: own,
      queueMode: own,
      websockets: own,
      websocketConnectTimeoutMs: own,
      cacheWarming: warming,
      "terminal.clearOnShrink": screen,
    },
    notApplicable: "retry.maxDelayMs lastChangelogVersion extensionChangelogVersions warnings.anthropicExtraUsage",
  },
  variables: {
    same: `AI_AGENT EDITOR VISUAL HTTPS_PROXY HTTP_PROXY ANTHROPIC_API_KEY OPENAI_API_KEY PI_CACHE_RETENTION
      PI_CLIPBOARD_OSC52 PI_CODING_AGENT PI_CODING_AGENT_DIR PI_CODING_AGENT_SESSION_DIR PI_HARDWARE_CURSOR PI_HYPERLINKS
      PI_IMAGE_PROTOCOL PI_MODEL PI_OFFLINE PI_PROVIDER PI_REASONING_LEVEL PI_SESSION_FILE PI_SESSION_ID PI_TRUE_COLOR
      PI_TUI_ESC_TIMEOUT PI_PROGRAM_STATUS LLAMA_BASE_URL`,
    decided: {
      PI_CODEMODE_MAX_WORKERS: codemode,
      PI_SELF_UPDATE_COMMAND: accounts,
      PI_SHARE_VIEWER_URL: accounts,
      PI_SKIP_VERSION_CHECK: accounts,
      PI_TELEMETRY: accounts,
      PI_CLEAR_ON_SHRINK: screen,
    },
    notApplicable: "PI_PACKAGE_DIR PI_RADIUS_GATEWAY",
  },
  events: {
    same: `project_trust resources_discover session_start session_info_changed session_before_switch session_before_fork
      session_before_compact session_compact session_compact_failed session_shutdown session_before_tree session_tree context
      context_with_system before_provider_request before_provider_headers after_provider_response provider_stream_event
      before_agent_start agent_start agent_end agent_before_settle agent_settled ui_prompt_start ui_prompt_end turn_start
      turn_end message_start message_update message_end tool_execution_start tool_execution_update tool_execution_end
      model_select thinking_level_select tool_call tool_result user_bash input mcp_servers_change cache_warming_decision`,
  },
  api: {
    same: `on registerTool registerCommand registerShortcut registerFlag getFlag registerMessageRenderer
      registerMarkdownTransformer registerEntryRenderer registerToolRenderer sendMessage sendUserMessage appendEntry
      setSessionName getSessionName setLabel exec getActiveTools getAllTools getSettings setActiveTools getCommands setModel
      getThinkingLevel setThinkingLevel registerProvider unregisterProvider registerMcpServer unregisterMcpServer
      getMcpServers registerVirtualModel unregisterVirtualModel events`,
  },
  context: {
    same: `ui mode hasUI cwd sessionManager modelRegistry model scopedModels thinkingLevel isIdle isProjectTrusted signal abort
      hasPendingMessages shutdown getContextUsage compact getSystemPrompt`,
  },
  commandContext: {
    same: `getSystemPromptOptions waitForIdle newSession fork navigateTree switchSession reload`,
  },
  toolContext: { same: "tools executeTool" },
  interface: {
    same: `select confirm input notify onTerminalInput setStatus setWorkingMessage setWorkingVisible setWorkingIndicator
      setHiddenThinkingLabel setWidget setFooter setHeader setTitle custom pasteToEditor setEditorText getEditorText editor
      addAutocompleteProvider setEditorComponent getEditorComponent theme getAllThemes getTheme setTheme getToolsExpanded
      setToolsExpanded`,
  },
  sessionManager: {
    same: `getCwd getSessionDir getSessionId getSessionFile getLeafId getLeafEntry getEntry getLabel getBranch getHeader
      getEntries getTree getSessionName buildContextEntries buildSessionProjection`,
  },
  modelRegistry: {
    same: `refresh getError getAll getAvailable find findOfType hasConfiguredAuth getApiKeyAndHeaders getProviderAuthStatus
      stream streamSimple complete getModelsOfType getAvailableOfType getModelOfType getProviderDisplayName getProviderAuth
      getApiKeyForProvider isUsingOAuth registerProvider unregisterProvider getRegisteredProviderConfig
      getRegisteredProviderIds`,
    decided: {
      getProvider: parts,
      getRegisteredNativeProvider: parts,
      classify: otherTypes,
      generateImages: otherTypes,
      registerVirtualModel: own,
      unregisterVirtualModel: own,
    },
  },
  toolDefinition: {
    same: `name label description promptSnippet promptGuidelines parameters constrainedSampling renderShell prepareArguments
      outputSchema exposure namespace annotations defaultActive executionMode execute renderCall renderResult reachesTools
      prepareLoadout`,
  },
  rpc: {
    same: `prompt steer follow_up abort clear_queue new_session get_state get_messages set_model cycle_model
      get_available_models set_thinking_level cycle_thinking_level get_available_thinking_levels set_steering_mode
      set_follow_up_mode compact set_auto_compaction set_auto_retry abort_retry bash abort_bash get_session_stats export_html
      switch_session fork clone get_fork_messages get_entries get_tree get_last_assistant_text set_session_name get_commands`,
  },
  modelFields: {
    same: `id name api baseUrl apiKey headers authHeader reasoning input cost contextWindow maxTokens thinkingLevelMap compat
      inputLimits samplingParams samplingParamsByThinkingLevel promptCache`,
  },
  modelCompat: {
    same: `maxTokensField requiresAssistantAfterToolResult requiresReasoningContentOnAssistantMessages requiresThinkingAsText
      requiresToolResultName supportsDeveloperRole supportsLongCacheRetention supportsReasoningEffort supportsStore
      supportsStrictMode supportsUsageInStreaming thinkingFormat sendSessionAffinityHeaders cacheControlFormat
      forceAdaptiveThinking supportsEagerToolInputStreaming supportsTemperature openRouterRouting vercelGatewayRouting
      zaiToolStream allowEmptySignature supportsCacheControlOnTools sessionAffinityFormat chatTemplateArgs chatTemplateKwargs
      supportsAdditionalTools supportsExplicitPromptCacheMode supportsMidConvoEffort supportsMidConvoSystemMessages
      supportsMidConvoToolAdditions supportsMidConvoToolChanges supportsOpenAIGrammarTools supportsStrictTools
      supportsToolSearch supportsFinishReason supportsMaxOutputTokens thinkingTokenBudgetField supportsThinkingTokenBudget
      vllmPriority`,
    decided: { imageInput: classifiers, sendImageOptInHeader: classifiers, allowedFallbackModels: fallbacks },
  },
  /** Fields of a provider in `models.json`. */
  providerFields: {
    same: "name baseUrl apiKey api headers compat authHeader models modelOverrides",
    decided: { oauth: gateway },
  },
  modelOverrides: {
    same: `name reasoning thinkingLevelMap input inputLimits cost promptCache contextWindow maxTokens samplingParams
      samplingParamsByThinkingLevel headers compat`,
  },
  shortFlags: { same: "p c r n t xt nbt nt e ne ns np nc a na h v" },
  authUsage: {
    same: `check print-api-key print-bearer-token --provider --model --json --credentials --no-refresh --min-expiry`,
  },
  /** In the order of `keybindings.schema.json`. */
  keybindings: {
    same: `tui.editor.cursorUp tui.editor.cursorDown tui.editor.historyPrevious tui.editor.historyNext
      tui.editor.cursorLeft tui.editor.cursorRight tui.editor.cursorWordLeft tui.editor.cursorWordRight
      tui.editor.cursorLineStart tui.editor.cursorLineEnd tui.editor.jumpForward tui.editor.jumpBackward
      tui.editor.pageUp tui.editor.pageDown tui.editor.deleteCharBackward tui.editor.deleteCharForward
      tui.editor.deleteWordBackward tui.editor.deleteWordForward tui.editor.deleteToLineStart
      tui.editor.deleteToLineEnd tui.editor.yank tui.editor.yankPop tui.editor.undo tui.input.newLine tui.input.submit
      tui.input.tab tui.input.copy tui.select.up tui.select.down tui.select.pageUp tui.select.pageDown
      tui.select.confirm tui.select.cancel tui.altScreen.pageUp tui.altScreen.pageDown tui.altScreen.halfPageUp
      tui.altScreen.halfPageDown tui.altScreen.lineUp tui.altScreen.lineDown tui.altScreen.previousPrompt
      tui.altScreen.nextPrompt tui.altScreen.search tui.altScreen.searchNext tui.altScreen.searchPrevious
      tui.altScreen.searchClose tui.altScreen.top tui.altScreen.bottom app.interrupt app.clear app.exit app.suspend
      app.thinking.cycle app.thinking.save app.model.cycleForward app.model.cycleBackward app.model.select
      app.tools.expand app.thinking.toggle app.session.toggleNamedFilter app.editor.external app.message.copy
      app.message.followUp app.message.dequeue app.clipboard.pasteImage app.session.new app.session.tree
      app.session.fork app.session.resume app.tree.foldOrUp app.tree.unfoldOrDown app.tree.editLabel
      app.tree.toggleLabelTimestamp app.session.togglePath app.session.toggleSort app.session.rename
      app.session.delete app.session.deleteNoninvasive app.models.save app.models.enableAll app.models.clearAll
      app.models.toggleProvider app.models.reorderUp app.models.reorderDown app.tree.filter.default
      app.tree.filter.noTools app.tree.filter.userOnly app.tree.filter.labeledOnly app.tree.filter.all
      app.tree.filter.cycleForward app.tree.filter.cycleBackward`,
  },
  themeColors: {
    same: `accent border borderAccent borderMuted success error warning muted dim text thinkingText scrollbarTrack
      scrollbarThumb selectedBg searchMatchBg searchMatchText userMessageBg userMessageText customMessageBg
      customMessageText customMessageLabel toolPendingBg toolSuccessBg toolErrorBg toolTitle toolOutput mdHeading
      mdLink mdLinkUrl mdCode mdCodeBlock mdCodeBlockBorder mdQuote mdQuoteBorder mdHr mdListBullet toolDiffAdded
      toolDiffRemoved toolDiffContext syntaxComment syntaxKeyword syntaxFunction syntaxVariable syntaxString
      syntaxNumber syntaxType syntaxOperator syntaxPunctuation thinkingOff thinkingMinimal thinkingLow thinkingMedium
      thinkingHigh thinkingXhigh thinkingMax bashMode pageBg cardBg infoBg`,
  },
  /** Records of JSON mode and of RPC. */
  records: {
    same: `agent_start agent_end agent_settled turn_start turn_end message_start message_update message_end
      tool_execution_start tool_execution_update tool_execution_end queue_update entry_appended session_info_changed
      thinking_level_changed compaction_start compaction_end auto_retry_start auto_retry_end bash_execution_update
      response`,
    decided: {
      extension_error: extensionErrors,
      summarization_retry_scheduled: summaries,
      summarization_retry_attempt_start: summaries,
      summarization_retry_finished: summaries,
    },
  },
  uiRequests: { same: "select confirm input editor notify setStatus setWidget setTitle set_editor_text" },
  entryTypes: {
    same: `session message model_change thinking_level_change usage compaction context_edit branch_summary custom
      custom_message label session_info`,
  },
  tools: {
    same: "read bash edit write grep find ls codemode",
    decided: { powershell: shells },
    ofFeatures: "tool_search",
  },
  packageFields: {
    same: "extensions skills prompts themes changelogPath",
    notApplicable: "image video",
  },
  files: {
    same: `settings.json keybindings.json mcp.json models.json auth.json AGENTS.override.md AGENTS.md AGENTS.MD CLAUDE.md CLAUDE.MD
      SYSTEM.md APPEND_SYSTEM.md extensions/ skills/ prompts/ themes/`,
  },
} satisfies Record<string, Verdicts>;

export type Category = keyof typeof piNames;

export const words = (text = ""): string[] => text.split(/\s+/).filter((word) => word !== "");
