import {
  BadRequestException,
  Body,
  Controller,
  Get,
  Header,
  Param,
  ParseIntPipe,
  Post,
  UseFilters,
} from '@nestjs/common';
import { readFileSync } from 'node:fs';
import { TaskErrorFilter } from './task-error.filter.js';
import { TasksService } from './tasks.service.js';

// This path is valid from this folder and from the build folder.
const PAGE = readFileSync(new URL('../../sample/04-people/page.html', import.meta.url), 'utf8');

interface Body {
  owner?: unknown;
  title?: unknown;
  verdict?: unknown;
  works?: unknown;
}

@Controller()
@UseFilters(TaskErrorFilter)
export class TasksController {
  constructor(private readonly tasks: TasksService) {}

  @Get()
  @Header('content-type', 'text/html; charset=utf-8')
  page() {
    return PAGE;
  }

  @Get('tasks')
  all() {
    return this.tasks.all();
  }

  @Post('tasks')
  add(@Body() { title }: Body) {
    return this.tasks.add(text('title', title));
  }

  @Post('tasks/next')
  async takeNext(@Body() { owner }: Body) {
    return (await this.tasks.takeNext(text('owner', owner))) ?? {};
  }

  @Post('tasks/:id/:action')
  async act(@Param('id', ParseIntPipe) id: number, @Param('action') action: string, @Body() body: Body) {
    const owner = text('owner', body.owner);
    switch (action) {
      case 'take':
        return this.tasks.take(id, owner);
      case 'finish':
        return this.tasks.finish(id, owner, verdictOf(body));
      case 'put-off':
        return this.tasks.putOff(id, owner);
      case 'give-back':
        return this.tasks.giveBack(id, owner);
      case 'review':
        return this.tasks.sendToReview(id, owner);
      case 'accept':
        return this.tasks.accept(id, owner, verdictOf(body));
      case 'send-back':
        return this.tasks.sendBack(id, owner);
      default:
        throw new BadRequestException(`unknown action ${action}`);
    }
  }

  @Post('code')
  letCodeWork(@Body() { works }: Body) {
    return this.tasks.letCodeWork(works === true);
  }
}

function text(name: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= 100) return value.trim();
  throw new BadRequestException(`expected ${name} to be a text of 1 to 100 characters`);
}

function verdictOf({ verdict }: Body): 'fine' | 'refused' {
  if (verdict === 'fine' || verdict === 'refused') return verdict;
  throw new BadRequestException(`expected verdict to be fine or refused, got ${JSON.stringify(verdict)}`);
}
