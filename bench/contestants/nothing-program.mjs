import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

export async function startWorker() {
  class AppModule {}
  Module({})(AppModule);
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'], abortOnError: false });
  return { close: () => app.close() };
}

export const openProducer = () => Promise.resolve({ close: () => Promise.resolve() });
