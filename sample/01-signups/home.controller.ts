import { Controller, Get } from '@nestjs/common';

@Controller()
export class HomeController {
  @Get()
  whatIsHere() {
    return {
      'POST /signups': '{ "email": "ada@example.com", "name": "Ada" } signs up, and a welcome mail follows',
      'GET /jobs/:id': 'what became of a mail',
      'GET /queue': 'how many mails stand where',
      'GET /queue/dead': 'mails that were given up',
      'POST /queue/dead/retry': 'tries them all again',
    };
  }
}
