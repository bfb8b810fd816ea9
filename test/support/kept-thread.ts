/** The thread for work on whole files, kept for the next one: its start costs ten times what its work does. */
import "../../src/backup/file-worker.ts";
import { watchDatabases } from "./closing.ts";

declare const self: Worker;

const { onmessage } = self;
const postMessage = self.postMessage.bind(self);
let closeDatabases = watchDatabases();

self.postMessage = (reply: object) => {
  // Every message other than a call is the outcome of an act.
  if (!("call" in reply)) {
    closeDatabases();
    closeDatabases = watchDatabases();
    self.onmessage = onmessage;
  }
  postMessage(reply);
};
