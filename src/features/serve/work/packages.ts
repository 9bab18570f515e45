/**
 * The packages of the service, loaded with this file. A bundler would follow an import of them into programs that never
 * serve.
 */
import type * as Swagger from "@fastify/swagger";
import type * as Fastify from "fastify";
import type * as WorkerPool from "workerpool";
import { requireHere } from "../../../engine/package/own-module.ts";

export const { fastify } = requireHere("fastify") as typeof Fastify;
export const { fastifySwagger } = requireHere("@fastify/swagger") as typeof Swagger;
export const workerpool = requireHere("workerpool") as typeof WorkerPool;
