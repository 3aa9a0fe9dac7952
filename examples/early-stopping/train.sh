#!/bin/sh
# Pretends to train a network: prints a loss for every epoch that falls like a
# learning curve, loss(t) = a + b / t^c, with some noise. A larger learning rate
# learns faster, but a large one ends at a worse loss, so that curves cross.
#
#     train.sh --lr=0.01 --width=64 --dropout=0.2 --epochs=81
#         [--checkpoint=DIR] [--sleep=SECONDS] [--seed=N]
#
# With a directory for checkpoints it goes on after the last epoch that it has
# finished there. --sleep is how long an epoch takes.
lr=0.01 width=64 dropout=0.2 epochs=81 checkpoint='' sleep=0 seed=1
for arg; do
    case $arg in
    --lr=*) lr=${arg#*=} ;;
    --width=*) width=${arg#*=} ;;
    --dropout=*) dropout=${arg#*=} ;;
    --epochs=*) epochs=${arg#*=} ;;
    --checkpoint=*) checkpoint=${arg#*=} ;;
    --sleep=*) sleep=${arg#*=} ;;
    --seed=*) seed=${arg#*=} ;;
    *) echo "train.sh: what is $arg?" >&2; exit 2 ;;
    esac
done

loss() { # of epoch $1
    awk -v t="$1" -v lr="$lr" -v width="$width" -v dropout="$dropout" -v seed="$seed" '
    function uniform() { state = (state * 16807) % 2147483647; return state / 2147483647 }
    BEGIN {
        u = (log(lr) / log(10) + 4) / 4     # 0 at 1e-4, 1 at 1
        v = log(width / 8) / log(64)        # 0 at 8, 1 at 512
        a = 0.1 + 0.8 * (u - 0.35) ^ 2 + 0.3 * (v - 0.6) ^ 2 + 0.3 * (dropout - 0.4) ^ 2
        state = (seed * 7919 + t * 104729) % 2147483646 + 1
        uniform(); uniform()
        printf "%.5f", a + (0.8 + 0.8 * v) / t ^ (0.4 + 0.8 * u) + 0.03 * (uniform() - 0.5)
    }'
}

done=0
if [ -n "$checkpoint" ] && [ -s "$checkpoint/epoch" ]; then
    done=$(cat "$checkpoint/epoch")
    echo "continue after epoch $done"
fi
if [ "$done" -ge "$epochs" ]; then
    echo "epoch $epochs/$epochs val_loss: $(loss "$epochs")"
fi
while [ "$done" -lt "$epochs" ]; do
    done=$((done + 1))
    if [ "$sleep" != 0 ]; then
        sleep "$sleep"
    fi
    echo "epoch $done/$epochs val_loss: $(loss "$done")"
    if [ -n "$checkpoint" ]; then
        echo "$done" >"$checkpoint/epoch.new" && mv "$checkpoint/epoch.new" "$checkpoint/epoch" || exit 1
    fi
done
