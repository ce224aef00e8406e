import type { Account, Channel } from "../generated/types.js";
import { MintmarkError } from "./errors.js";

/** Throw it in a hook to refuse the operation. The caller gets `RefusedByHook` with the reason. */
export declare class HookRefused extends MintmarkError {
  constructor(reason: string);
  readonly reason: string;
}

/** The question before an account is stored that a user creates. */
export interface BeforeCreate {
  hook: "beforeCreate";
  tenantId: string;
  /** The account as it will be stored. */
  account: Account;
  /** The method that asks, such as `signUp.submitCode`. */
  method: string;
  /** How the user signs in: `password`, `code`, `passkey`, `anonymous`, `custom`, or the ID of an identity provider. */
  provider: string;
}

/** The question before a session is stored. */
export interface BeforeSignIn extends Omit<BeforeCreate, "hook"> {
  hook: "beforeSignIn";
  /** The authentication methods of the session (RFC 8176). */
  amr: string[];
  /** Whether the sign-in completes a sign-up or creates the account. */
  isNewAccount: boolean;
  /** The kind of the second factor that was verified. */
  secondFactor?: string;
  /** The claims that only the tokens of this session contain. */
  sessionClaims?: { [name: string]: unknown };
}

/** The question before a message with a code is sent. */
export interface BeforeSendMessage {
  hook: "beforeSendMessage";
  tenantId: string;
  message: { channel: Channel; to: string; purpose: string; language?: string; secondFactor?: string };
}

/** What a hook changes. Members that are absent change nothing. */
export interface HookAnswer {
  /** The new display name. `null` removes it. */
  displayName?: string | null;
  /** The URL of the new picture. `null` removes it. */
  photoUrl?: string | null;
  /** Whether the email address of the account is verified. */
  emailVerified?: boolean;
  /** The new custom claims of the account, which replace the present ones. */
  claims?: { [name: string]: unknown };
  /** Whether the account is disabled. If `true`, the account is stored, and the operation fails with `AccountDisabled`. */
  disabled?: boolean;
}

export interface SignInAnswer extends HookAnswer {
  /** Claims that only the tokens of this session contain. */
  sessionClaims?: { [name: string]: unknown };
}

type Answer<Value> = Value | null | undefined | void;
type HookFunction<Request, Value> = (request: Request) => Answer<Value> | Promise<Answer<Value>>;

/**
 * The functions that answer hooks within 7 seconds. A function returns nothing to allow the operation, or changes, or throws `HookRefused`. If it
 * throws another error, the operation fails with `HookFailed`. It can call the client. `m.hooks.set` switches hooks on for a tenant.
 */
export interface HookFunctions {
  beforeCreate?: HookFunction<BeforeCreate, HookAnswer>;
  beforeSignIn?: HookFunction<BeforeSignIn, SignInAnswer>;
  beforeSendMessage?: HookFunction<BeforeSendMessage, Record<string, never>>;
}
