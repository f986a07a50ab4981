// What the whole app is waiting for: the server, or the first index. It stands at the foot and moves nothing.

import type { Index } from "./api";
import { count } from "../text";

export function Status({ index, isConnected, isShutOut, isLong, hurry }: { index: Index | null; isConnected: boolean; isShutOut: boolean; isLong: boolean; hurry: () => void }) {
  if (isShutOut) {
    return (
      <div class="status is-warn" role="status">
        <p><strong>clew web was started anew.</strong> Open the address that it printed; this page goes on by itself then. Nothing that you read here is lost.</p>
      </div>
    );
  }
  if (!isConnected) {
    const port = location.port ? ` --port ${location.port}` : "";
    return (
      <div class="status is-warn" role="status">
        <p><strong>Reconnecting …</strong>{isLong && <> The server does not answer. If it has ended: <code>clew web{port}</code></>}</p>
        {isLong && <button type="button" class="button" onClick={hurry}>Try now</button>}
      </div>
    );
  }
  if (index && isBuilding(index)) {
    const done = index.bytes_total > 0 ? index.bytes / index.bytes_total : 0;
    return (
      <div class="status" role="status">
        <progress class="statusbar" max={1} value={done} aria-label="The index" />
        <p>{index.files_total > 0 ? `Reading ${count(Math.min(index.files + 1, index.files_total))} of ${count(index.files_total)} sessions` : "Looking for sessions"}. Lists and search work, and are not complete yet.</p>
      </div>
    );
  }
  return null;
}

export function isBuilding(index: Index): boolean {
  return index.state === "waiting" || index.state === "building";
}
