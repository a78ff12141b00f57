#ifndef TAU_STAND_BACK_H
#define TAU_STAND_BACK_H

/* Where memory runs out the system takes this process first, and where processors are short its session gets less of them. */
void stand_back(void);

#endif
