import { openFileStore } from "@tests/fakes/file_store.ts";
import { taskStoreSuite } from "@tests/suites/task_store_suite.ts";

taskStoreSuite("FileTaskStore", async ({ storedTasksMax } = {}) => {
  const test = await openFileStore(storedTasksMax === undefined ? {} : { storedTasksMax: () => storedTasksMax });
  return {
    get store() {
      return test.store;
    },
    clock: test.clock,
    followers: () => test.store.known.followers,
    async reopen() {
      await test.reopen();
    },
    blobsLeft(taskId) {
      const blobs = `${taskId}.blobs`;
      return test.files().includes(blobs)
        ? [...Deno.readDirSync(`${test.folder}/${blobs}`)].map(({ name }) => name)
        : [];
    },
    [Symbol.asyncDispose]: () => test[Symbol.asyncDispose](),
  };
});
