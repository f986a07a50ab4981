// Made by scripts/make_api_types.py from clew.faces.web.schemas; do not edit.

import type { Diff, Flow, Head, TurnHead } from "../parts";

export type Error = {
  error: {
    code: string;
    message: string;
    hint: string | null;
  };
};

export type Tokens = {
  input: number;
  output: number;
  cache_read: number;
  cache_write_5m: number;
  cache_write_1h: number;
};

export type SessionRow = {
  key: string;
  id: string;
  path: string;
  project: string;
  folder: string;
  slug: string | null;
  title: string | null;
  lines: number | null;
  first_prompt: string | null;
  started: string | null;
  ended: string | null;
  turns: number | null;
  messages: number | null;
  tool_calls: number | null;
  failed_calls: number | null;
  calls: number | null;
  failures: number | null;
  activity: number[] | null;
  tokens: Tokens | null;
  cost_usd: number | null;
  models: string[];
  git_branch: string | null;
  agents: number;
  kind: string;
  live: boolean;
  damaged: number | null;
  bytes: number;
  changed: string | null;
};

export type Sessions = {
  sessions: SessionRow[];
  from: number;
  next: number | null;
  total: {
    sessions: number;
    live: number;
    damaged: number;
    turns: number;
    tool_calls: number;
    failed_calls: number;
    tokens: number;
    cost_usd: number | null;
  };
  store: {
    files: number;
    sessions: number;
    other: number;
    agents: number;
    skipped: number;
  };
  partial: boolean;
  notes: string[];
  facets?: {
    project: {
      value: string;
      sessions: number;
    }[];
    branch: {
      value: string;
      sessions: number;
    }[];
    model: {
      value: string;
      sessions: number;
    }[];
  };
};

export type Session = {
  key: string;
  id: string;
  path: string;
  agent: string | null;
  live: boolean;
  damaged: boolean;
  writing: boolean;
  head: Head;
  turns: TurnHead[];
  from: number;
  next: number | null;
};

export type Turn = {
  session: string;
  turn: TurnHead;
  from: number;
  next: number | null;
  parts: Flow[];
};

export type Context = {
  session: string;
  client: string;
  leaf: string | null;
  messages: {
    role: string;
    content: unknown;
  }[] | null;
  left_out: ({
    line: number | null;
    uuid: string | null;
    type: string | null;
    reason: string;
  })[];
  tokens_estimate: number;
  api_problems: {
    code: string;
    message: string;
  }[];
};

export type Window = {
  session: string;
  turns: ({
    turn: number;
    time: string | null;
    tokens: number | null;
    by_kind: Record<string, number>;
  })[];
  turns_total: number;
  compactions: ({
    turn: number;
    time: string | null;
    before: number;
    after: number;
    trigger: string | null;
    is_estimated: boolean;
  })[];
  table: {
    kind: string;
    blocks: number;
    tokens: number;
    share: number;
  }[];
  split: string;
};

export type Tree = {
  session: string;
  leaves: ({
    uuid: string | null;
    line: number | null;
    active: boolean;
    why: string;
  })[];
  branches: ({
    uuid: string | null;
    leaf: string | null;
  })[];
  compactions: ({
    uuid: string | null;
    line: number | null;
  })[];
  agents: TreeAgent[];
};

export type TreeAgent = {
  agent_id: string;
  type: string | null;
  started_by: string | null;
  turns: number | null;
  tokens: Tokens | null;
  children: TreeAgent[];
};

export type Check = {
  id: string;
  path: string;
  resumable: boolean;
  problems: ({
    code: string;
    severity: "info" | "warning" | "error";
    line: number | null;
    offset: number | null;
    length: number | null;
    detail: string;
    repair: string | null;
  })[];
};

export type SessionFiles = {
  files: ({
    path: string;
    shown: string;
    versions: ({
      turn: number;
      tool: string;
      action: string;
      added: number | null;
      removed: number | null;
      time: string | null;
      known: boolean;
    })[];
    gaps: unknown[];
  })[];
};

export type FileVersion = {
  path: string;
  turn: number | null;
  bytes: number;
  text: string;
  is_text: boolean;
};

export type Patch = {
  files: {
    path: string;
    action: string;
    added: number;
    removed: number;
    patch: string;
  }[];
  left_out: {
    path: string;
    why: string;
  }[];
  gaps: unknown[];
};

export type FileDiff = {
  path: string;
  from_turn: number | null;
  to_turn: number | null;
  is_text: boolean;
  diff: Diff;
};

export type Place = {
  at: string;
  turn: number;
  item: number;
  agent: string | null;
};

export type Blame = {
  path: string;
  file: string;
  of: "disk" | "sessions";
  why: string | null;
  text: string[];
  lines: ({
    n: number;
    text: string;
    session: string;
    turn: number;
    prompt: string | null;
    uuid: string | null;
    time: string | null;
    agent_id: string | null;
  } | null)[];
  last: {
    session: string;
    turn: number;
    time: string | null;
  } | null;
  keys: Record<string, string | null>;
  notes: string[];
};

export type Files = {
  files: ({
    path: string;
    changes: number;
    sessions: number;
    added: number | null;
    removed: number | null;
    changed: string | null;
  })[];
  from: number;
  next: number | null;
  total: number;
  notes: string[];
};

export type FileHistory = {
  path: string;
  changes: ({
    session: string | null;
    turn: number | null;
    action: string;
    time: string | null;
  })[];
  notes: string[];
};

export type Search = {
  query: string;
  total: number;
  hits: ({
    key: string | null;
    session: string;
    path: string;
    line: number | null;
    offset: number;
    uuid: string | null;
    time: string | null;
    field: string;
    tool: string | null;
    snippet: string;
    ranges: number[][];
    turn: number | null;
    agent_id: string | null;
    where: string | null;
    at: string | null;
    model: string | null;
    call: string | null;
  })[];
  sessions: number;
  searched: number;
  elapsed_ms: number;
  suggestions: string[];
  notes: string[];
  partial: boolean;
  groups?: ({
    key: string | null;
    session: string;
    title: string | null;
    project: string | null;
    hits: ({
      key: string | null;
      session: string;
      path: string;
      line: number | null;
      offset: number;
      uuid: string | null;
      time: string | null;
      field: string;
      tool: string | null;
      snippet: string;
      ranges: number[][];
      turn: number | null;
      agent_id: string | null;
      where: string | null;
      at: string | null;
      model: string | null;
      call: string | null;
    })[];
    count: number;
    more: number;
  })[];
  facets?: {
    project: {
      value: string;
      hits: number;
    }[];
    tool: {
      value: string;
      hits: number;
    }[];
    field: {
      value: string;
      hits: number;
    }[];
    model: {
      value: string;
      hits: number;
    }[];
  };
  grouped_all?: boolean;
  counted?: number;
  counted_all?: boolean;
};

export type Usage = {
  by: string;
  rows: ({
    key: string;
    models: string[];
    tokens: Tokens;
    messages: number;
    cost_usd: number | null;
    unpriced_messages: number;
    by_model?: ({
      model: string;
      tokens: Tokens;
      messages: number;
      cost_usd: number | null;
      unpriced_messages: number;
    })[];
    session_key?: string | null;
  })[];
  rows_total: number;
  cache_hit_rate: number | null;
  total: {
    tokens: Tokens;
    messages: number;
    cost_usd: number | null;
    unpriced_messages: number;
  };
  prices: {
    source: string;
    date: string;
  };
  unpriced_models: string[];
  tz: string;
  files: number;
};

export type Doctor = {
  files: number;
  sessions: number;
  agents: number;
  empty: number;
  unreadable: number;
  patients: ({
    key: string | null;
    id: string;
    resumable: boolean;
    problems: {
      code: string;
      count: number;
    }[];
    needs: string | null;
  })[];
  deleted_next: ({
    id: string;
    after: string | null;
    days_left: number;
  })[];
  interrupted_edits: string[];
};

export type Index = {
  state: "off" | "waiting" | "building" | "ready" | "failed";
  work: string | null;
  files: number;
  files_total: number;
  bytes: number;
  bytes_total: number;
  note: string | null;
  read_only: boolean;
  version: string;
};

export type Edit = {
  source: {
    id: string;
    path: string;
  };
  result: {
    id: string;
    path: string;
  } | null;
  kept: number;
  patched: number;
  dropped: number;
  added: number;
  steps: ({
    line: number | null;
    action: string;
    reason: string;
  })[];
  bytes_before: number;
  bytes_after: number;
  context_tokens_before: number;
  context_tokens_after: number;
  thinking_dropped: number;
  journal: string | null;
  refused: string[];
  notes: string[];
  key?: string | null;
};

export type Undone = {
  id: string;
  command: string;
  files: string[];
  trash: string[];
};

export type OpenApi = {
  openapi: string;
  info: unknown;
  paths: unknown;
};
