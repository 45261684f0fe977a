import { Controller, Get } from '@nestjs/common';

@Controller()
export class HomeController {
  @Get()
  routes() {
    return {
      'POST /signups': '{ "email": "ada@example.com", "name": "Ada" } signs up, and a welcome mail follows',
      'GET /jobs/:id': 'the state of a mail',
      'GET /queue': 'the number of mails in each state',
      'GET /queue/dead': 'mails that failed in every attempt',
      'POST /queue/dead/retry': 'retries all of them',
    };
  }
}
