/** Runs a workflow once with the engine and the nodes of n8n, as n8n does when a trigger fires. */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const [folder, workflowFile, stateFile, settings] = process.argv.slice(2);
const token = process.env.LEADFILE_KEY;
const fromTool = createRequire(`${folder}/package.json`);
const { ExecutionLifecycleHooks, WorkflowExecute } = fromTool("n8n-core");
const { NodeHelpers, Workflow } = fromTool("n8n-workflow");

const classes = {
  scheduleTrigger: ["Schedule/ScheduleTrigger.node.js", "ScheduleTrigger"],
  set: ["Set/Set.node.js", "Set"],
  code: ["Code/Code.node.js", "Code"],
  httpRequest: ["HttpRequest/HttpRequest.node.js", "HttpRequest"],
};

function nodeType(type) {
  const [path, name] = classes[type.replace("n8n-nodes-base.", "")];
  const Type = fromTool(`n8n-nodes-base/dist/nodes/${path}`)[name];
  return new Type();
}

const nodeTypes = {
  getByName: nodeType,
  getByNameAndVersion: (type, version) => NodeHelpers.getVersionedNodeType(nodeType(type), version),
  getKnownTypes: () => ({}),
};

const credentialsHelper = {
  preAuthentication: async () => undefined,
  authenticate: async (_, __, request) => ({
    ...request,
    headers: { ...request.headers, Authorization: `Bearer ${token}` },
  }),
  getDecrypted: async () => ({ token }),
  getParentTypes: () => [],
  getCredentialsProperties: () => [],
};

const definition = JSON.parse(readFileSync(workflowFile, "utf8"));
for (const assignment of definition.nodes.find(({ name }) => name === "Settings").parameters.assignments.assignments) {
  assignment.value = JSON.parse(settings)[assignment.name] ?? assignment.value;
}
const staticData = existsSync(stateFile) ? JSON.parse(readFileSync(stateFile, "utf8")) : {};
const workflow = new Workflow({ ...definition, id: "leads", staticData, nodeTypes });
const hooks = new ExecutionLifecycleHooks("trigger", "1", { ...definition, id: "leads" });
const additionalData = {
  credentialsHelper,
  hooks,
  executionId: "1",
  currentNodeExecutionIndex: 0,
  variables: {},
  restApiUrl: "",
  instanceBaseUrl: "",
  formWaitingBaseUrl: "",
  webhookBaseUrl: "",
  webhookWaitingBaseUrl: "",
  webhookTestBaseUrl: "",
  userId: "1",
  setExecutionStatus: () => undefined,
  sendDataToUI: () => undefined,
};

const { data } = await new WorkflowExecute(additionalData, "trigger").run(workflow);
// n8n keeps static data after an execution, whether it failed or not.
writeFileSync(`${stateFile}.next`, JSON.stringify(workflow.staticData));
renameSync(`${stateFile}.next`, stateFile);
const { error } = data.resultData;
if (error !== undefined) process.stderr.write(`${error.node?.name}: ${error.message} ${error.description ?? ""}\n`);
// The engine leaves timers behind.
process.exit(error === undefined ? 0 : 1);
