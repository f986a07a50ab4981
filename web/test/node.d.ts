// As much of node's own modules as the tests use; its whole types would be another package to keep.

declare module "node:assert" {
  export const strict: {
    equal(made: unknown, wanted: unknown, message?: string): void;
    deepEqual(made: unknown, wanted: unknown, message?: string): void;
  };
}

declare module "node:test" {
  export function test(name: string, run: () => void): void;
}
